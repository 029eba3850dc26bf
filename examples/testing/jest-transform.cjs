const ts = require('typescript')

/** TypeScript without checks; any other transform of Jest's does as well. */
module.exports = {
  process(source, fileName) {
    const { outputText } = ts.transpileModule(source, {
      fileName,
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true },
    })
    return { code: outputText }
  },
}

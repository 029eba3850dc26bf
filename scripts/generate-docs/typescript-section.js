import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { code, table } from './table.js'

/**
 * The members of an interface, with what its TSDoc says.
 *
 * @param kind - `interface`: options, with type and default; `fields`: without default; `events`: with the listeners' arguments
 */
export function typescriptSection(root, kind, name, file) {
  const path = join(root, file)
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const declaration = source.statements.find(
    (statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  )
  if (declaration === undefined) throw new Error(`There is no interface ${name} in ${file}`)
  const members = declaration.members.filter((member) => ts.isPropertySignature(member))
  if (kind === 'events') {
    return table(
      ['event', 'arguments', 'when'],
      members.map((member) => [code(member.name.text), argumentsOf(member), textOf(member)]),
    )
  }
  if (kind === 'fields') {
    return table(
      ['field', 'type', ''],
      members.map((member) => [
        code(member.name.text),
        code(member.type.getText().replaceAll('readonly ', '')),
        textOf(member),
      ]),
    )
  }
  return table(
    ['option', 'type', 'default', ''],
    members.map((member) => [code(member.name.text), code(typeOf(member)), defaultOf(member), textOf(member)]),
  )
}

function docOf(member) {
  return ts.getJSDocCommentsAndTags(member).find((doc) => ts.isJSDoc(doc))
}

function textOf(member) {
  return plain(ts.getTextOfJSDocComment(docOf(member)?.comment) ?? '')
}

function defaultOf(member) {
  const tag = docOf(member)?.tags?.find((one) => one.tagName.text === 'defaultValue')
  if (tag === undefined) return ''
  const text = (ts.getTextOfJSDocComment(tag.comment) ?? '').trim()
  return /^('.*'|\[.*\]|[\d_]+|true|false|null)$/.test(text) ? code(text) : plain(text)
}

function plain(text) {
  return text.replaceAll(/\{@link ([^}|]+)(\|[^}]*)?\}/g, '`$1`').trim()
}

function typeOf(member) {
  return flat(member.type.getText()).replaceAll(/ \| undefined$/g, '')
}

function argumentsOf(member) {
  const types = member.type.elements.map((element) => flat(element.getText()))
  return types.map((type) => code(type)).join(', ')
}

function flat(text) {
  return text.replaceAll(/\s+/g, ' ').replaceAll('readonly ', '').replaceAll('{ ', '{ ')
}

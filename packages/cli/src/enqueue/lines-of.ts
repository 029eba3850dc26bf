import { CliError } from '../cli-error.js'

/** In characters; a text can be twice as long at most. */
const LONGEST = 2 ** 28

/** Lines of a text in UTF-8, without their ends; each part of it is looked at once, however long a line is. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let parts: string[] = []
  let length = 0
  let number = 1
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true })
    let begin = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', begin)) {
      yield parts.join('') + text.slice(begin, end)
      parts = []
      length = 0
      number += 1
      begin = end + 1
    }
    parts.push(text.slice(begin))
    length += text.length - begin
    if (length > LONGEST) {
      throw new CliError(`Line ${number} is too long: there must be one JSON object per line.`, {
        hint: 'Nothing was enqueued.',
      })
    }
  }
  const rest = parts.join('') + decoder.decode()
  if (rest !== '') yield rest
}

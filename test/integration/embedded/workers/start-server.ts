import { start } from '@pg-tasks/embedded'

const [directory = '', end] = process.argv.slice(2)
const { url, pid, attached } = await start(directory)
console.log(JSON.stringify({ url, pid, attached }))
if (end === undefined) setInterval(() => {}, 60_000)

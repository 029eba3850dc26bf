import { startTestServer } from '../../../support/test-server.js'

const { directory, url } = await startTestServer()
console.log(JSON.stringify({ directory, url }))
setInterval(() => {}, 60_000)

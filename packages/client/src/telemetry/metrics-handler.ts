import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Worker } from '../worker/worker.js'
import { type HealthProblems, liveProblems, readyProblems } from './health-answer.js'
import { CONTENT_TYPE } from './prometheus/text-format.js'
import { WorkerMetrics } from './prometheus/worker-metrics.js'

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

/** Answers `/metrics`, `/live` and `/ready`; for an HTTP server that is there already. */
export function metricsHandler(
  worker: Worker,
  metrics: WorkerMetrics = new WorkerMetrics(worker),
): (request: Pick<IncomingMessage, 'method' | 'url'>, response: ServerResponse) => void {
  return (request, response) => {
    void answer(worker, metrics, request).then(({ status, type, body }) => {
      response.writeHead(status, {
        'content-type': type,
        'cache-control': 'no-store',
        ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
      })
      response.end(request.method === 'HEAD' ? undefined : body)
    })
  }
}

async function answer(
  worker: Worker,
  metrics: WorkerMetrics,
  { method, url = '/' }: Pick<IncomingMessage, 'method' | 'url'>,
): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return plain(405, 'Only GET and HEAD')
  switch (url.split('?')[0]) {
    case '/metrics':
      return { status: 200, type: CONTENT_TYPE, body: await metrics.text() }
    case '/live':
      return health(worker, liveProblems(worker.health()))
    case '/ready':
      return health(worker, readyProblems(worker.health()))
    default:
      return plain(404, 'There are /metrics, /live and /ready')
  }
}

function health(worker: Worker, problems: HealthProblems): Answer {
  const body = JSON.stringify({ ok: problems.length === 0, problems, worker: worker.health() })
  return { status: problems.length === 0 ? 200 : 503, type: 'application/json; charset=utf-8', body: `${body}\n` }
}

function plain(status: number, text: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: `${text}\n` }
}

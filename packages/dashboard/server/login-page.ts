/** The sign-in page; it works without script. */
export function loginPage(
  basePath: string,
  { status, message }: { status: 200 | 401 | 429; message: string },
): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>Sign in · pg-tasks</title>
<link rel="stylesheet" href="${basePath}/login.css" />
</head>
<body>
<main>
<h1>pg-tasks</h1>
<form method="post" action="${basePath}/login">
<label for="token">Token <span lang="ru">/ Токен</span></label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus${message === '' ? '' : ' aria-describedby="message" aria-invalid="true"'} />
<p id="message" role="alert">${message}</p>
<button type="submit">Sign in <span lang="ru">/ Войти</span></button>
</form>
</main>
</body>
</html>
`
  return new Response(html, {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  })
}

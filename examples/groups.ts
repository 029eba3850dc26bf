/**
 * Groups: images are resized by whoever is free, and the album is published once, when the last of them has ended; one that
 * fails for good is counted.
 */
import { type Claimed, createGroup, inTransaction, Task, useGroups, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

type Image = { path: string }
type Album = { title: string }

class ResizeImage extends Task<Image> {
  override async run(task: Claimed<Image>): Promise<void> {
    if (task.path === 'torn.jpg') throw new Error('not an image')
  }
}

class PublishAlbum extends Task<Album> {
  override async run(task: Claimed<Album>): Promise<void> {
    console.log(`publishing ${task.title}`)
    console.log(task.comment)
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table tasks.resize_image (
      like tasks.template including defaults including identity including indexes,
      path text not null
    );
    create table tasks.publish_album (
      like tasks.template including defaults including identity including indexes,
      title text not null
    );
    select tasks.register('tasks', 'resize_image', max_retries => 0), tasks.register('tasks', 'publish_album');
  `)
  const [resizeImage, publishAlbum] = [new ResizeImage(), new PublishAlbum()]
  await useGroups(pool, resizeImage)
  await inTransaction(pool, async (tx) => {
    await createGroup(tx, 'album 7', publishAlbum, { title: 'Summer' })
    const paths = ['beach.jpg', 'torn.jpg', 'boat.jpg', 'sunset.jpg']
    await resizeImage.enqueueMany(
      tx,
      paths.map((path) => ({ path, group_key: 'album 7' })),
    )
  })

  // Two workers, as if they were two processes.
  const workers = [1, 2].map(() => new Worker({ connectionString }).add(resizeImage, 2).add(publishAlbum))
  const published = new Promise<void>((resolve) => {
    for (const worker of workers) worker.on('finished', ({ table }) => table === 'publish_album' && resolve())
  })
  const running = workers.map((worker) => worker.run())
  await published
  await Promise.all(workers.map((worker) => worker.stop()))
  await Promise.all(running)
  const { rows } = await pool.query('select count(*)::int as albums from tasks.publish_album')
  console.log(`${rows[0].albums} album`)
})

// Output:
// publishing Summer
// group album 7: 3 finished, 1 failed, 0 canceled
// 1 album

// Package checkpoint keeps finished checkpoints and savepoints, so that a job can
// go on from one after whatever has happened to its processes and machines.
//
// A checkpoint is a [Manifest], the list of who saved what, and the blobs that it
// refers to. Subtasks write blobs, on any worker, through [Blobs]. The coordinator
// alone has the [Store]: it publishes manifests, picks the one to restore from and
// removes what is no longer needed. [OpenDir] is a store in a directory,
// [OpenBlobs] is a worker's view of the same directory, [NewMemory] is for tests and
// for jobs that need not survive their process. Package s3store speaks to an object
// store.
//
// # Invariants
//
//   - Nothing is visible before it is durable. A blob has its final name after its
//     bytes are synced, a manifest after that. [Store.Publish] returns nil only if a
//     power cut at the next instant leaves the checkpoint restorable.
//   - What is visible does not change. Blobs and manifests are written once and
//     never replaced: a name that is taken is refused with [ErrExists].
//   - A blob lives until its last owner is gone. Incremental checkpoints share
//     blobs; [Store.Drop] removes those that no other manifest refers to.
//   - Every byte is under a checksum. Damage is reported as a [CorruptError] that
//     names the file, and [Store.Latest] goes back to the newest one that is whole.
//   - Names in a store are made from integers only.
//
// # A directory
//
//	LOCK                          held by the coordinator's process
//	blobs/e3-c17-s2-0.blob        epoch 3, checkpoint 17, subtask 2, its blob 0
//	manifests/c17.manifest        the truth: a checkpoint is there if this is
//	catalogue/                    Pebble: index of the manifests
//
// The catalogue can always be made again from the manifests, and opening the store
// makes it agree with them, so it is not synced for each. What it alone knows is which checkpoints
// were being dropped when the process died, and opening finishes that.
//
// A file is written under a temporary name, synced, renamed, and its directory
// synced. A sync that has failed is not repeated: the call fails, the temporary
// file is removed, and what was there before stays as it is.
//
// # Ownership and goroutines
//
// All stores may be used by several goroutines at once. A BlobWriter belongs to the
// goroutine that created it, until Commit or Abort. Manifests are lent to Publish,
// and given away by Latest and Manifest. The package starts no goroutines; Pebble
// has its own, joined by Close.
package checkpoint

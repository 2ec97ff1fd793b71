// Package s3store keeps checkpoints in an object store that speaks S3.
//
//	PREFIX/blobs/e3-c17-s2-0.blob       the same files as in a directory
//	PREFIX/manifests/c17.manifest       the truth: a checkpoint is there if this is
//	PREFIX/epochs/e3                    the attempts that were numbered by Claim
//
// The caller brings the client with its endpoint, credentials and TLS.
//
// # Invariants
//
//   - Objects are written once: every put has the condition that there is none of
//     the name. The manifest is put after all its blobs are there, and that put is
//     the commit.
//   - A request whose answer was lost is repeated. Each object carries the number of
//     its write, so that a condition which fails since the lost request succeeded is
//     told from a name that somebody else has taken.
//   - What refers to a blob is read from the manifests that are there. Dropping
//     removes the manifest first, and a blob only after that, if no other manifest
//     refers to it. While a manifest cannot be read, what it may refer to stays.
//   - Every byte is under the checksums of package checkpoint, whatever the object
//     store and the network do.
//
// An object store has no lock: whoever elects the coordinator sees to it that there
// is one, and Claim gives each its own epoch, so that a stale one cannot touch the
// blobs of the next. Its manifest may still be put, under an ID that the new one has
// not used; the epoch in it tells.
//
// # Ownership and goroutines
//
// All may be used by several goroutines at once. The package starts none; the
// client's HTTP transport has its own.
package s3store

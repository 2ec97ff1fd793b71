package checkpoint

// Limits of a manifest. Publish refuses what exceeds them, and so does reading:
// memory is bounded by the size of the file, not by numbers found in it.
const (
	MaxManifest    = 64 << 20 // bytes of an encoded manifest
	MaxName        = 1 << 10  // bytes of Job, Mode, UID, Name and State
	MaxInline      = 1 << 20  // bytes of Part.Inline
	MaxChain       = 1 << 12  // blobs of one part
	MaxParallelism = 1 << 20  // key groups, and subtasks of an operator
	MaxBlob        = 1 << 42  // bytes of a blob
)

package operators

// Codec turns values of T into bytes and back. It is used by one subtask at a
// time; different subtasks use it concurrently, so it must not hold state.
type Codec[T any] interface {
	// Append appends the encoding of v to dst and returns the longer slice, as
	// append does. It must not keep dst.
	Append(dst []byte, v T) []byte
	// Decode reads a value from src, which holds exactly one encoding. The value
	// may be a view into src (src is lent until the record's callback returns).
	Decode(src []byte) (T, error)
	// Fingerprint identifies the layout. Two workers, or a job and its checkpoint,
	// whose fingerprints differ refuse each other.
	Fingerprint() uint64
}

//go:build linux && (amd64 || arm64)

package probe

// gate is Magic and the semaphores. Its contents are in the assembly files: memory
// without any would be backed by no file, and the kernel would not count in it.
var gate [3]uint64

// WriteBegin is called right before the write that begins with, or goes on with, a
// sampled message. It lends m.
//
//go:noescape
func WriteBegin(m *Message)

// Processed is called when a sampled message's last record has been processed. It lends
// m.
//
//go:noescape
func Processed(m *Message)

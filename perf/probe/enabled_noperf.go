//go:build noperf

package probe

// enabled is false: see the other file.
const enabled = false

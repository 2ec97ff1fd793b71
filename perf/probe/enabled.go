//go:build !noperf

package probe

// enabled is false in builds with the tag "noperf", which nobody can attach to: they
// are what the cost of all measuring is compared with.
const enabled = true

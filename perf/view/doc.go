// Package view is what a person sees of a profile: tables, histograms, and pictures of
// what package ebpf has found, beside what the job says of itself over HTTP (package
// serve).
//
// Whatever was not seen is "n/a", never 0. All that writes returns the writer's first
// error. Nothing here starts a goroutine; a Timeline has one owner.
package view

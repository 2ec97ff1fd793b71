// Package workload has the jobs that the command line runs and benchmarks
// measure, as values that build an overtake.Job. They double as larger examples of
// the API.
package workload

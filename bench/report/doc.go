// Package report draws the results of benchmarks: one HTML page with tables and plots,
// and the plots as SVG files. Page and plots need nothing from elsewhere, and follow the
// reader's light or dark colours.
//
// Plots are made from the names and parameters of cases (figures.go has one function for
// each plot); what a folder has no results for is left out.
//
// # Ownership and goroutines
//
// There are no goroutines. Documents are read only.
package report

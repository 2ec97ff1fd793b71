// Package statetest is the behaviour that every statecow.Store must show, as tests.
//
//	func TestConformance(t *testing.T) {
//		statetest.Run(t, func(t testing.TB, c statetest.Config) statecow.Store { ... })
//	}
package statetest

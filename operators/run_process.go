package operators

// silent is a Processor that collects nothing for records, but for timers only. So its outputs
// need no room for a run.
type silent interface{ silent() }

func (*windows[K, T, A, O]) silent() {}

// Runs implements Runner.
func (p *process[K, I, O]) Runs(ctx *Context) func(*Run[I]) {
	if _, ok := p.user.(silent); !ok {
		return oneByOne[I](ctx, p)
	}
	return eachOf[I](ctx, p)
}

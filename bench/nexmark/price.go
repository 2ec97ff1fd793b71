package nexmark

import "math"

// prices draws prices in cents: 100·10^(6u), rounded, for u from 0 to 1.
//
// The power is looked up for the first eight bits of u and a series for the others, at a
// tenth of the price of math.Pow. Products are converted, so that no machine may fuse
// them with a sum: all get the same prices.
type prices [256]float64

func newPrices() *prices {
	var p prices
	for i := range p {
		p[i] = float64(float32(100 * math.Pow(10, 6*float64(i)/256))) // float32: no machine's last bits matter
	}
	return &p
}

func (p *prices) draw(r uint64) uint64 {
	const step = 6 * math.Ln10 / 256
	x := float64(r<<8>>11) / (1 << 53) * step // u is r>>56 and this
	y := 1 + float64(x/5)
	y = 1 + float64(float64(x/4)*y)
	y = 1 + float64(float64(x/3)*y)
	y = 1 + float64(float64(x/2)*y)
	y = 1 + float64(x*y)
	return uint64(float64(p[r>>56]*y) + 0.5)
}

package nexmark

import (
	"math/bits"
	"strconv"
)

// channel is where a bid comes from.
type channel struct{ name, url string }

const coldChannels = 10_000

// newChannels draws the addresses of all channels.
func newChannels(d *draws) (hot, cold []channel) {
	for _, name := range []string{"Google", "Facebook", "Baidu", "Apple"} {
		hot = append(hot, channel{name: name, url: address(d)})
	}
	for i := range uint32(coldChannels) {
		c := channel{name: "channel-" + strconv.Itoa(int(i)), url: address(d)}
		if below(d.next(), 10) > 0 {
			id := int64(int32(bits.Reverse32(i)))
			c.url += "&channel_id=" + strconv.FormatInt(max(id, -id), 10)
		}
		cold = append(cold, c)
	}
	return hot, cold
}

// address has three folders of three or four letters, one in 13 of which is a "_".
func address(d *draws) string {
	folder := func() string { return text(d, 3+below(d.next(), 2), '_') + "/" }
	return "https://www.nexmark.com/" + folder() + folder() + folder() + "item.htm?query=1"
}

package nexmark

import (
	"math"
	"regexp"
	"strings"
	"testing"
)

func TestChannelIDsAreThoseOfTheExpression(t *testing.T) {
	expression := regexp.MustCompile(`(&|^)channel_id=([^&]*)`)
	urls := []string{"", "channel_id=5", "channel_id=5&x=6", "&channel_id=", "a&channel_id=77&b", "xchannel_id=1", "a&channel_id", "x&channel_id=1&channel_id=2", "channel_id=&channel_id=3"}
	for _, c := range newTables(1).cold[:500] {
		urls = append(urls, c.url)
	}
	for _, url := range urls {
		want, found := "", false
		if m := expression.FindStringSubmatch(url); m != nil {
			want, found = m[2], true
		}
		if got, ok := channelID("channel-5", url); got != want || ok != found {
			t.Errorf("%q: %q, %v, want %q, %v", url, got, ok, want, found)
		}
	}
	for name, want := range map[string]string{"Apple": "0", "google": "1", "FACEBOOK": "2", "Baidu": "3"} {
		if got, ok := channelID(name, ""); got != want || !ok {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestFoldersAreThePartsOfTheURL(t *testing.T) {
	for _, url := range []string{"", "a", "https://www.nexmark.com/abc/d_f/ghij/item.htm?query=1", "//", "a/b/c/d", "a/b/c/d/e/f"} {
		parts := append(strings.Split(url, "/"), make([]string, 6)...)
		if got := folders(url); got != [3]string(parts[3:6]) {
			t.Errorf("%q: %q, want %q", url, got, parts[3:6])
		}
	}
}

func TestTimesOfDayAndPricesOfCalculatedBids(t *testing.T) {
	const price = 2_000_000
	for hour, want := range []string{6: "nightTime", 7: "otherTime", 8: "dayTime", 18: "dayTime", 19: "otherTime", 20: "nightTime", 23: "nightTime"} {
		if want == "" {
			continue
		}
		o, ok := calculated(&Bid{Price: price, Time: 5*day + int64(hour)*3_600_000, Extra: "abccc"})
		if !ok || o.More != want || o.Number != 3 || o.Price != price*908 {
			t.Errorf("hour %d: %+v, %v, want %s", hour, o, ok, want)
		}
	}
	for p, want := range map[uint64]bool{1_101_321: false, 1_101_322: true, 55_066_079: true, 55_066_080: false} {
		if _, ok := calculated(&Bid{Price: p}); ok != want {
			t.Errorf("price %d is selected: %v", p, ok)
		}
	}
}

func TestPricesAreThePower(t *testing.T) {
	p := newPrices()
	d := newDraws(3, 4)
	for range 100_000 {
		r := d.next()
		want := 100 * math.Pow(10, 6*(float64(r>>8)/(1<<56)))
		if got := float64(p.draw(r)); math.Abs(got-want) > 0.5+want*2e-7 {
			t.Fatalf("price %v of %x, want %v", got, r, want)
		}
	}
}

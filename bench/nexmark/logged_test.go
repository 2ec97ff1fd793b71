package nexmark_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/overtake-stream/overtake/bench/nexmark"
)

// More minutes than a subtask has files open, with and without order.
func TestBidsOfManyMinutesAreLogged(t *testing.T) {
	q, err := nexmark.Find([]string{"q10"})
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []uint64{1, 128} {
		g := generator(t, nexmark.Options{Events: 20_000, Rate: 2, Group: group})
		out := nexmark.Output{Folder: t.TempDir()}
		if err := q[0].Job(g, nexmark.Setup{Engine: engine(3), Output: &out}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r, w := put(t, q[0], &out), want(t, q[0], g); r != w {
			t.Errorf("group %d: %v, want %v", group, r, w)
		}
		minutes, err := filepath.Glob(filepath.Join(out.Folder, "dt=2015-07-15", "hm=??%3A??"))
		if err != nil || len(minutes) < 167 {
			t.Errorf("%d minutes, %v", len(minutes), err)
		}
		left := filepath.Join(out.Folder, ".pending-1-0-0")
		part := filepath.Join(minutes[0], "part-00000-9-9")
		torn := os.WriteFile(part, []byte("1,2,3,4,text"), 0o600)
		if _, err := q[0].Result(&out); torn != nil || !errors.Is(err, nexmark.ErrDecode) {
			t.Errorf("%v; %v of half a line", torn, err)
		}
		if err := errors.Join(os.Remove(part), os.WriteFile(left, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := q[0].Result(&out); err == nil {
			t.Error("a pending file is no error")
		}
	}
	if err := q[0].Job(generator(t, small(1)), nexmark.Setup{Engine: engine(1), Output: &nexmark.Output{}}).Run(t.Context()); err == nil {
		t.Error("files without a folder")
	}
}

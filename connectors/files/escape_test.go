package files_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/connectors/files"
)

type texts struct{ A, B string }

// nasty draws texts of what formats give a meaning to.
func nasty() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`[ a,"\\.\t\n]{0,8}`), rapid.String(), rapid.SampledFrom([]string{"", `\.`, `\t`, "\r", "\u00a0x"}))
}

func TestCSVIsWhatThePackageWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	rapid.Check(t, func(t *rapid.T) {
		v := texts{nasty().Draw(t, "a"), nasty().Draw(t, "b")}
		var want bytes.Buffer
		w := csv.NewWriter(&want)
		if err := w.WriteAll([][]string{{"A", "B"}, {v.A, v.B}}); err != nil {
			t.Fatal(err)
		}
		if err := put(files.CSV[texts](path), true, v); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%q, want %q", got, want.Bytes())
		}
	})
}

func TestASingleEmptyColumnIsARecordOfCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := put(files.CSV[string](path), true, "", "a", ""); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := csv.NewReader(f).ReadAll()
	if err != nil || len(got) != 4 {
		t.Fatalf("%q %v, want 4 records", got, err)
	}
}

func TestTSVCanBeReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tsv")
	unescape := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
	rapid.Check(t, func(t *rapid.T) {
		want := []string{nasty().Draw(t, "a"), nasty().Draw(t, "b")}
		if err := put(files.TSV[texts](path), true, texts{want[0], want[1]}); err != nil {
			t.Fatal(err)
		}
		content, _ := os.ReadFile(path)
		line, rest, _ := strings.Cut(string(content), "\n")
		got := strings.Split(line, "\t")
		for i := range got {
			got[i] = unescape.Replace(got[i])
		}
		if !slices.Equal(got, want) || rest != "" {
			t.Fatalf("%q read back from %q, want %q", got, content, want)
		}
	})
}

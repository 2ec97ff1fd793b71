package peers

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/overtake-stream/overtake/bench"
)

// WriteText writes a result for people: the table, and how both sides were set up.
func WriteText(w io.Writer, d *bench.Document) error {
	if err := d.WriteText(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nsettings\n")
	said := map[string]bool{}
	for _, r := range d.Cases {
		name := strings.TrimSuffix(r.Name, "/"+r.Metric)
		if said[name] || err != nil {
			continue
		}
		said[name] = true
		common := map[string]any{}
		for k, v := range r.Parameters {
			if text, ok := v.(string); ok && !strings.HasPrefix(k, "check_") {
				common[k] = text
			}
		}
		_, err = fmt.Fprintf(w, "%s: %s\n", name, list(common))
		for _, side := range []string{"ours", "theirs"} {
			settings, ok := r.Parameters["settings_"+side].(map[string]any)
			if !ok || len(settings) == 0 || err != nil {
				continue
			}
			title := side
			if side == "theirs" && len(r.Baselines) > 0 {
				title = r.Baselines[0].Name
			}
			_, err = fmt.Fprintf(w, "    %s: %s\n", title, list(settings))
		}
	}
	return err
}

func list(m map[string]any) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s=%v", k, m[k]))
	}
	return strings.Join(parts, ", ")
}

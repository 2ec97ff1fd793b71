package files

import (
	"fmt"
	"path"
	"strings"
)

// glob is a pattern over slash-separated relative paths: the parts between slashes
// are patterns of path.Match, except "**", which stands for any number of folders.
type glob []string

func compileGlob(pattern string) (glob, error) {
	g := glob(strings.Split(pattern, "/"))
	for _, part := range g {
		if part == "**" {
			continue
		}
		if _, err := path.Match(part, ""); err != nil || part == "" {
			return nil, fmt.Errorf("files: glob %q: bad part %q", pattern, part)
		}
	}
	return g, nil
}

func (g glob) match(name string) bool { return g.matchParts(strings.Split(name, "/")) }

func (g glob) matchParts(parts []string) bool {
	if len(g) == 0 {
		return len(parts) == 0
	}
	if g[0] == "**" {
		if len(g) == 1 {
			return len(parts) > 0 // any file, at any depth
		}
		for i := range len(parts) + 1 {
			if g[1:].matchParts(parts[i:]) {
				return true
			}
		}
		return false
	}
	if len(parts) == 0 {
		return false
	}
	ok, _ := path.Match(g[0], parts[0])
	return ok && g[1:].matchParts(parts[1:])
}

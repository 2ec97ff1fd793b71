package peers

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Tool is a program that a peer needs.
type Tool struct {
	Name  string   // of the executable
	Args  []string // that make it print its version
	Least int      // least first number of the version
}

// Java runs the peers that are written in it.
func Java(least int) Tool { return Tool{Name: "java", Args: []string{"-version"}, Least: least} }

// Javac is the compiler of a JDK: a JRE lacks it.
func Javac(least int) Tool { return Tool{Name: "javac", Args: []string{"-version"}, Least: least} }

// Maven builds Java programs.
func Maven() Tool { return Tool{Name: "mvn", Args: []string{"-version"}, Least: 3} }

// Cargo builds Rust programs.
func Cargo() Tool { return Tool{Name: "cargo", Args: []string{"--version"}, Least: 1} }

// look returns what the tool says of its version, or why it cannot be used.
func (t Tool) look(ctx context.Context) (version string, err error) {
	path, err := exec.LookPath(t.Name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed (version %d or later)", t.Name, t.Least)
	}
	out, err := exec.CommandContext(ctx, path, t.Args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s does not start: %w: %s", t.Name, err, tail(string(out), 1))
	}
	version, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	first, _ := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(version, "")))
	if first < t.Least {
		return "", fmt.Errorf("%s is too old: %q, version %d or later is needed", t.Name, version, t.Least)
	}
	return version, nil
}

// tail is the last n lines of a text, in one.
func tail(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "; ")
}

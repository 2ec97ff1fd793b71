package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints a script that completes commands and flags.
func (c *completionCmd) Run(k *kong.Context) error {
	words := map[string][]string{}
	walk(k.Model.Node, "", words)
	var paths []string
	for path := range words {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	switch c.Shell {
	case "fish":
		printFish(paths, words)
	case "zsh":
		fmt.Println("autoload -U +X bashcompinit && bashcompinit")
		printBash(paths, words)
	default:
		printBash(paths, words)
	}
	return nil
}

// walk lists the words that may follow each command.
func walk(n *kong.Node, path string, words map[string][]string) {
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			words[path] = append(words[path], "--"+f.Name)
		}
	}
	for _, child := range n.Children {
		words[path] = append(words[path], child.Name)
		walk(child, strings.TrimSpace(path+" "+child.Name), words)
	}
}

func printBash(paths []string, words map[string][]string) {
	fmt.Println("_overtake() {\n  local path=\"\" w\n  for w in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do [[ $w == -* ]] || path=\"${path:+$path }$w\"; done\n  local words=\"\"\n  case \"$path\" in")
	for _, path := range paths {
		fmt.Printf("    %q) words=%q ;;\n", path, strings.Join(words[path], " "))
	}
	fmt.Println("  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -o default -F _overtake overtake")
}

func printFish(paths []string, words map[string][]string) {
	fmt.Println("function __overtake_at\n  set -l path (string match -v -- '-*' (commandline -opc)[2..-1])\n  test \"$path\" = \"$argv\"\nend")
	for _, path := range paths {
		for _, w := range words[path] {
			if flag, ok := strings.CutPrefix(w, "--"); ok {
				fmt.Printf("complete -c overtake -n '__overtake_at %s' -l %s\n", path, flag)
			} else {
				fmt.Printf("complete -c overtake -n '__overtake_at %s' -f -a %s\n", path, w)
			}
		}
	}
}

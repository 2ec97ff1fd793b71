package peers

import (
	"context"
	"embed"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
)

//go:embed flink/pom.xml flink/src
var flinkFiles embed.FS

// flink is Apache Flink, in one Java process with two task managers.
func flink() Peer {
	source, err := fs.Sub(flinkFiles, "flink")
	if err != nil {
		panic(err) // the name above is wrong
	}
	return Peer{
		Name: "flink", Title: "Flink 2.3.0",
		Needs: []Tool{Java(17), Javac(17), Maven()}, Source: source,
		Build: func(ctx context.Context, dir string, log io.Writer) error {
			cmd := exec.CommandContext(ctx, "mvn", "-B", "-q", "package")
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
			return cmd.Run()
		},
		Command: func(dir string, p Params) []string {
			return append(append([]string{"java"}, flinkJava()...), "-cp", filepath.Join(dir, "target", "lib", "*"), "peer.Main")
		},
		Cases: flinkCases,
	}
}

// flinkJava are the options of the Java machine. Flink's own scripts set the same
// --add-opens.
func flinkJava() []string {
	return []string{
		"-Xms3g", "-Xmx3g", "-XX:MaxDirectMemorySize=2g", "-XX:+UseG1GC", "-XX:+AlwaysPreTouch",
		"--add-opens=java.base/java.util=ALL-UNNAMED",
		"--add-opens=java.base/java.lang=ALL-UNNAMED",
		"--add-opens=java.base/java.nio=ALL-UNNAMED",
		"--add-opens=java.base/java.time=ALL-UNNAMED",
		"--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
	}
}

func flinkCases(Config) []Case { return nil }

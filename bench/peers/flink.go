package peers

import (
	"context"
	"embed"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strconv"
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
			return append(append([]string{"java"}, flinkJava(p)...), "-cp", filepath.Join(dir, "target", "lib", "*"), "peer.Main")
		},
		Cases: flinkCases,
	}
}

// flinkJava are the options of the Java machine. The heap is larger than what any case
// fills, and grows when it is needed. Flink's own scripts set the same --add-opens.
func flinkJava(p Params) []string {
	heap := "4g"
	if p.Int("keys") > 1e6 { // large state: about 110 bytes for a key and its count, and old ones while new ones are restored
		heap = strconv.FormatInt(4+p.Int("keys")*200>>30, 10) + "g"
	}
	return []string{
		"-Xms1g", "-Xmx" + heap, "-XX:MaxDirectMemorySize=2g", "-XX:+UseG1GC",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"--add-opens=java.base/java.util=ALL-UNNAMED",
		"--add-opens=java.base/java.lang=ALL-UNNAMED",
		"--add-opens=java.base/java.nio=ALL-UNNAMED",
		"--add-opens=java.base/java.time=ALL-UNNAMED",
		"--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
	}
}

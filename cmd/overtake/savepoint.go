package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"syscall"
)

type savepointCmd struct {
	Dir     string `arg:"" help:"The --checkpoint-dir of the running job."`
	Path    string `arg:"" help:"New folder for the savepoint."`
	Stop    bool   `help:"Stop the job: one that begins with the savepoint goes on where it stopped."`
	Drain   bool   `help:"Finish what has been read, and end; the savepoint is of the end. Implies --stop."`
	Control string `help:"The --control of the job, if it was given one." placeholder:"unix:PATH"`
}

// Run asks a running job for a savepoint and waits for it.
func (c *savepointCmd) Run(e *env) error {
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return err
	}
	verb := "savepoint"
	switch {
	case c.Drain:
		verb = "drain"
	case c.Stop:
		verb = "stop"
	}
	answer, err := request(checkpointFlags{CheckpointDir: c.Dir, Control: c.Control}.controlPath(), verb+" "+path)
	if err != nil {
		return err
	}
	fmt.Println(answer)
	return nil
}

// request sends one line to a job's control socket.
func request(socket, line string) (answer string, err error) {
	if strings.Contains(line, "\n") {
		return "", fmt.Errorf("%q: a name with a line break cannot be sent", line)
	}
	c, err := net.Dial("unix", socket)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return "", fmt.Errorf("no job listens at %s: start it with --checkpoint-dir, and name the same folder here", socket)
	}
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := fmt.Fprintln(c, line); err != nil {
		return "", err
	}
	text, err := bufio.NewReader(c).ReadString('\n')
	text = strings.TrimSuffix(text, "\n")
	switch {
	case errors.Is(err, io.EOF):
		return "", errors.New("the job ended without an answer")
	case err != nil:
		return "", err
	}
	if answer, ok := strings.CutPrefix(text, "ok "); ok {
		return answer, nil
	}
	return "", errors.New(strings.TrimPrefix(text, "error "))
}

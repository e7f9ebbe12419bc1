package main

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
)

// watched ends a process once it has said something.
type watched struct {
	text string
	cmd  *exec.Cmd
	all  bytes.Buffer
	sent bool
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.all.Write(p)
	if !w.sent && strings.Contains(w.all.String(), w.text) {
		w.sent = true
		if e := w.cmd.Process.Signal(syscall.SIGTERM); err == nil {
			err = e
		}
	}
	return n, err
}

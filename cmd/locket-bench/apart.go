package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// order tells a host in a separate process what to do, as one JSON object per line. The host
// answers each with one report.
type order struct {
	Do    string        `json:"do"` // device, quiet, usage, search, stop
	Texts []string      `json:"texts,omitempty"`
	At    time.Time     `json:"at,omitzero"`
	Every time.Duration `json:"every,omitempty"` // from one search to the next; 0: at once
}

// report answers an order.
type report struct {
	Broker   string    `json:"broker,omitempty"`
	Password string    `json:"password,omitempty"`
	Resident float64   `json:"resident_mb,omitempty"`
	Own      float64   `json:"own_mb,omitempty"`   // of that, not of files
	Files    float64   `json:"files_mb,omitempty"` // of that, mapped files
	CPU      float64   `json:"cpu_s,omitempty"`
	Took     []float64 `json:"took_ms,omitempty"`
	Found    int       `json:"found,omitempty"` // searches that had a hit
	Error    string    `json:"error,omitempty"`
}

// residents describes the composition of the memory.
func (r *report) residents() string {
	return fmt.Sprintf("%.0f of its own, %.0f of files", r.Own, r.Files)
}

// hostArg is the first argument of such a process.
const hostArg = "host"

// apart is a host in a separate process, so that its memory and processor time can be measured
// separately.
type apart struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	send *json.Encoder
	recv *json.Decoder
	home string
}

// startApart starts a host of a kind, see openHost. cache is for compiled plugins.
func startApart(ctx context.Context, kind, cache string, stderr io.Writer, env ...string) (*apart, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "locket-bench-")
	if err != nil {
		return nil, err
	}
	a := &apart{home: home, cmd: exec.CommandContext(ctx, self, hostArg, kind, filepath.Join(home, "home"), cache)}
	a.cmd.Env, a.cmd.Stderr = append(os.Environ(), env...), stderr
	out, err := a.cmd.StdoutPipe()
	if err == nil {
		a.in, err = a.cmd.StdinPipe()
	}
	if err == nil {
		err = a.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	a.send, a.recv = json.NewEncoder(a.in), json.NewDecoder(out)
	return a, nil
}

func (a *apart) carryOut(o order) (r report, err error) {
	if err := a.send.Encode(o); err != nil {
		return r, fmt.Errorf("%s: %w", o.Do, err)
	}
	if err := a.recv.Decode(&r); err != nil {
		return r, fmt.Errorf("%s: %w", o.Do, err)
	}
	if r.Error != "" {
		return r, fmt.Errorf("%s: %s", o.Do, r.Error)
	}
	return r, nil
}

// close ends the process and removes its folder.
func (a *apart) close() error {
	_, err := a.carryOut(order{Do: "stop"})
	return errors.Join(err, a.in.Close(), a.cmd.Wait(), os.RemoveAll(a.home))
}

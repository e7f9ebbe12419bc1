package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/node/serve"
)

// daemon is the product as a wearer runs it.
type daemon struct {
	cmd    *exec.Cmd
	out    io.ReadCloser
	client *serve.Client
}

// wearableSettings of a home of the suite, as variables of the environment.
func wearableSettings(relay string) []string {
	return append(os.Environ(), "LOCKET_PROFILE=wearable", "LOCKET_BROKER_LISTEN=127.0.0.1:0", "LOCKET_SYNC_RELAY="+relay, "LOCKET_ZONE=UTC")
}

// recoverHome makes a home from the words.
func recoverHome(ctx context.Context, program, home, relay, phrase string, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, program, "--home", home, "recover", "--relay", relay, "--key-file", "--json")
	cmd.Env, cmd.Stdin, cmd.Stderr = wearableSettings(relay), strings.NewReader(phrase+"\n"), stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s recover: %w", program, err)
	}
	return nil
}

// startDaemon starts a daemon, and returns when it answers commands.
func startDaemon(ctx context.Context, program, home, relay string, stderr io.Writer) (d *daemon, err error) {
	cmd := exec.CommandContext(ctx, program, "--home", home, "run", "--json")
	cmd.Env, cmd.Stderr = wearableSettings(relay), stderr
	return launch(cmd, home)
}

// launch starts a daemon, and returns when it answers commands.
func launch(cmd *exec.Cmd, home string) (d *daemon, err error) {
	d = &daemon{cmd: cmd}
	if d.out, err = d.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	var ready struct{ Ready, Locked bool }
	if err := json.NewDecoder(bufio.NewReader(d.out)).Decode(&ready); err != nil || !ready.Ready || ready.Locked {
		return nil, errors.Join(fmt.Errorf("%s is not ready: %+v", cmd, ready), err, d.cmd.Process.Kill(), d.cmd.Wait())
	}
	d.client = serve.Dial("unix", filepath.Join(home, "locket.sock"), "")
	return d, nil
}

func (d *daemon) pid() string { return strconv.Itoa(d.cmd.Process.Pid) }

// resident returns the daemon's memory in MB, as the kernel counts it.
func (d *daemon) resident() float64 { return residentOf(d.pid(), "VmRSS") }

// residents describes the composition of that memory.
func (d *daemon) residents() string {
	return fmt.Sprintf("%.0f of its own, %.0f of files", residentOf(d.pid(), "RssAnon"), residentOf(d.pid(), "RssFile"))
}

// stop ends the daemon like a service manager.
func (d *daemon) stop() error {
	d.client.Close()
	return errors.Join(d.cmd.Process.Signal(os.Interrupt), d.cmd.Wait())
}

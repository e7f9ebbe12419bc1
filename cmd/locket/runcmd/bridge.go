package runcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/serve"
)

const (
	// bridgeStop is how long the bridge may take to end before it is killed. Until then the node
	// accepts what the bridge sends, and stops afterwards.
	bridgeStop = 3 * time.Second
	// bridgeLine is how much of a line from the bridge is logged, in bytes.
	bridgeLine = 4 << 10
)

// bridge runs locket-bridge as a child process of the daemon, and restarts it when it ends. Its
// output goes to the daemon's log, and Doctor reports its state.
type bridge struct {
	serve.Diagnostics // the node's
	cfg               config.Bridge
	environ           []string // the daemon's
	log               *slog.Logger

	mu  sync.Mutex
	how serve.Finding // guarded by mu
}

func newBridge(cfg *config.Config, environ []string, health serve.Diagnostics, log *slog.Logger) *bridge {
	b := &bridge{Diagnostics: health, cfg: cfg.Bridge, environ: environ, log: log}
	b.setFinding(serve.LevelWarning, "it has not started yet", "")
	return b
}

// run keeps the bridge running until ctx ends. A bridge that can't be started, or that refuses its
// configuration, is not tried again: neither changes by itself.
func (b *bridge) run(ctx context.Context) {
	if b.cfg.Config == "" {
		return
	}
	pace := retry.Backoff{First: time.Second, Most: time.Minute}
	for {
		began := time.Now()
		err := b.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if refused, ok := errors.AsType[refusedError](err); ok {
			b.log.Error("the bridge is not running, and is not tried again until the daemon is restarted", "error", refused)
			b.setFinding(serve.LevelError, refused.Error(), "correct it, and restart the daemon")
			return
		}
		if time.Since(began) > time.Minute {
			pace.Reset()
		}
		rest := pace.Next()
		b.log.Warn("the bridge ended, and is restarted", "error", err, "in", rest.Round(time.Millisecond))
		b.setFinding(serve.LevelWarning, fmt.Sprintf("it ended, and is restarted: %v", err), "see the daemon's log")
		if !wait.For(ctx, rest) {
			return
		}
	}
}

// refusedError is a failure for which trying again does not help.
type refusedError struct{ error }

// once runs the bridge until it or ctx ends. The error says how it ended, and is never nil.
func (b *bridge) once(ctx context.Context) error {
	program, err := b.program()
	if err == nil {
		_, err = os.Stat(b.cfg.Config)
	}
	if err != nil {
		return refusedError{fmt.Errorf("start locket-bridge: %w", err)}
	}
	// On Linux the process ends with the thread that started it, so that thread must not end.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out, said := &bridgeOut{log: b.log, away: map[string]bool{}}, &bridgeErr{log: b.log}
	stdout, stderr := &lines{each: out.line}, &lines{each: said.line}
	cmd := exec.CommandContext(ctx, program, "--json", "run", "--config", b.cfg.Config)
	cmd.Env = engines.Environ(b.environ, bridgeVariables)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, bridgeStop
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return cmd.Process.Kill() // this system has no signals
		}
		return nil
	}
	underDaemon(cmd)
	b.mu.Lock() // until the state says that it runs
	if err = cmd.Start(); err == nil {
		b.how = serve.Finding{Check: "bridge", Level: serve.LevelOK, Detail: fmt.Sprintf("it is running as process %d, with %s", cmd.Process.Pid, b.cfg.Config)}
	}
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	b.log.Info("the bridge is running", "program", program, "config", b.cfg.Config, "pid", cmd.Process.Pid)
	err = cmd.Wait()
	stdout.end()
	stderr.end()
	// A Go panic also ends a process with 2, but prints no JSON.
	if cmd.ProcessState.ExitCode() == cli.ExitUsage && said.reason != "" {
		return refusedError{errors.New(said.reason)}
	}
	why := cmp.Or(said.reason, said.last)
	if err == nil {
		err = errors.New(cmd.ProcessState.String())
	}
	if why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}

// program returns the path of a program that may be started.
func (b *bridge) program() (string, error) {
	if b.cfg.Program != "" {
		return exec.LookPath(b.cfg.Program)
	}
	if self, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(self), "locket-bridge")); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath("locket-bridge")
	if err != nil {
		return "", fmt.Errorf("it is neither beside locket nor on the PATH; set bridge.program to its path: %w", err)
	}
	return path, nil
}

func (b *bridge) setFinding(level, detail, advice string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.how = serve.Finding{Check: "bridge", Level: level, Detail: detail, Advice: advice}
}

// Doctor implements serve.Diagnostics.
func (b *bridge) Doctor(ctx context.Context, verify bool) (serve.DoctorReport, error) {
	r, err := b.Diagnostics.Doctor(ctx, verify)
	if err != nil || b.cfg.Config == "" {
		return r, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r.Findings = append(r.Findings, b.how)
	r.OK = r.OK && b.how.Level != serve.LevelError
	return r, nil
}

// bridgeVariables are the environment variables that the bridge gets: where its folders,
// its display and Bluetooth are. It gets no others, such as a passphrase.
var bridgeVariables = []string{"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
	"DBUS_SYSTEM_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "SWAYSOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "GOMEMLIMIT", "GOMAXPROCS", "SYSTEMROOT", "USERPROFILE", "LOCALAPPDATA", "TEMP"}

// bridgeOut logs what the bridge says about its devices.
type bridgeOut struct {
	log  *slog.Logger
	away map[string]bool // devices for which waiting was already logged since they were last connected
}

func (o *bridgeOut) line(b []byte) {
	var n struct{ Device, What, Text string }
	if json.Unmarshal(b, &n) != nil || n.What == "" {
		o.log.Info("bridge", "says", string(b))
		return
	}
	level := slog.LevelInfo
	switch n.What {
	case "warning", "lost":
		level = slog.LevelWarn
	case "waiting": // the bridge says so at each attempt
		if !o.away[n.Device] {
			level = slog.LevelWarn
		}
		o.away[n.Device] = true
	case "connected":
		delete(o.away, n.Device)
	}
	o.log.Log(context.Background(), level, "bridge", "device", n.Device, "what", n.What, "text", n.Text)
}

// bridgeErr logs the standard error of the bridge, and keeps the reason why it ends.
type bridgeErr struct {
	log    *slog.Logger
	reason string // the error with which it ends, with advice for a person
	last   string // the last line that is not such an error
}

func (e *bridgeErr) line(b []byte) {
	var n struct{ Error, Advice string }
	if json.Unmarshal(b, &n) == nil && n.Error != "" {
		e.reason = n.Error
		if n.Advice != "" {
			e.reason += "; " + n.Advice
		}
		return
	}
	e.last = string(b)
	e.log.Warn("bridge", "says", e.last)
}

// lines calls each with every line written to it, without the line end. It cuts a line after
// bridgeLine bytes.
type lines struct {
	each func([]byte)
	b    []byte
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, whole := bytes.Cut(p, []byte{'\n'})
		l.b = append(l.b, line[:min(len(line), bridgeLine-len(l.b))]...)
		if !whole {
			return n, nil
		}
		l.end()
		p = rest
	}
}

// end passes on the line that was read.
func (l *lines) end() {
	if line := bytes.TrimSpace(l.b); len(line) > 0 {
		l.each(line)
	}
	l.b = l.b[:0]
}

// Package sale kills the parties of a sale: the seller's node, the buyer and the operators of two
// markets, on SQLite and on PostgreSQL. Each is a process of this test's program, with one clock
// that the test moves. A command to a party comes as a line of JSON, and so does its result.
package sale

import (
	"bufio"
	"bytes"
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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/internal/testing/freeport"
)

// Names of a party's environment variables.
const (
	roleEnv  = "SALE_ROLE"
	setEnv   = "SALE_SET"
	clockEnv = "SALE_CLOCK"
)

// roles return what a party does with a command. set is its start argument.
var roles = map[string]func(ctx context.Context, set string) (ready any, do func(context.Context, *command) (any, error), err error){
	"operator": operate, "seller": sell, "buyer": buy,
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command is a command to a party.
type command struct {
	Do                   string
	Market, Order, Text  string
	Listing, Title       string
	Approve, Subscribing bool
	Answering            bool
}

type answer struct {
	Said  json.RawMessage
	Error string
}

// play runs a party's process. It ends with its input.
func play(role string) error {
	ctx := context.Background()
	ready, do, err := roles[role](ctx, os.Getenv(setEnv))
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(ready); err != nil {
		return err
	}
	in := json.NewDecoder(os.Stdin)
	for {
		var c command
		if err := in.Decode(&c); err != nil {
			return nil // the test has ended
		}
		said, err := do(ctx, &c)
		var a answer
		if err != nil {
			a.Error = err.Error()
		}
		if a.Said, err = json.Marshal(said); err != nil {
			return err
		}
		if err := out.Encode(&a); err != nil {
			return err
		}
	}
}

// now is the time by the test's clock.
func now() time.Time {
	text, err := os.ReadFile(os.Getenv(clockEnv))
	if err != nil {
		panic(err) // the test set it
	}
	ahead, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		panic(err)
	}
	return time.Now().Add(time.Duration(ahead) * time.Second)
}

// clock is the test's side of that clock.
type clock struct {
	t    *testing.T
	file string
	days int
}

func newClock(t *testing.T) *clock {
	c := &clock{t: t, file: filepath.Join(t.TempDir(), "clock")}
	t.Setenv(clockEnv, c.file)
	c.on(0)
	return c
}

// on advances it by days.
func (c *clock) on(days int) {
	c.t.Helper()
	c.days += days
	if err := atomicfile.Write(c.file, strconv.AppendInt(nil, int64(c.days)*24*60*60, 10)); err != nil {
		c.t.Fatal(err)
	}
}

// errGone: the party was killed before it answered.
var errGone = errors.New("the process has ended")

// process is a party that can be killed.
type process struct {
	t         *testing.T
	role, set string
	url       string // URL of an operator

	mu  sync.Mutex // one command at a time
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Reader
	log *logbook.Book
}

func newProcess(t *testing.T, role, set string) *process {
	t.Helper()
	p := &process{t: t, role: role, set: set, log: new(logbook.Book)}
	if role == "operator" {
		p.url = "http://" + freeport.Addr(t)
	}
	t.Cleanup(func() {
		if p.cmd != nil {
			p.kill()
		}
	})
	p.start()
	return p
}

// start starts it; an operator keeps its address when it restarts.
func (p *process) start() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+p.role, setEnv+"="+strings.TrimSpace(p.set+" "+strings.TrimPrefix(p.url, "http://")))
	cmd.Stderr = p.log
	in, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.cmd, p.in, p.out = cmd, in, bufio.NewReader(out)
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &p.url)
	}
	if err != nil {
		p.t.Fatalf("%s: %v: %q\n%s", p.role, err, line, p.log)
	}
}

// do sends a command, and reads the result into v, which may be nil.
func (p *process) do(v any, c command) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	line, err := json.Marshal(&c)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%s: %w", p.role, errGone)
	}
	if line, err = p.out.ReadBytes('\n'); err != nil {
		return fmt.Errorf("%s: %w", p.role, errGone)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return err
	}
	if a.Error != "" {
		return fmt.Errorf("%s: %s: %s", p.role, c.Do, a.Error)
	}
	if v == nil {
		return nil
	}
	return json.NewDecoder(bytes.NewReader(a.Said)).Decode(v)
}

// kill ends it like a power cut; if it had ended by itself, that is an error.
func (p *process) kill() {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	p.mu.Lock() // a caller that waits for its answer first reads to the end
	defer p.mu.Unlock()
	_ = p.cmd.Wait()
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		p.t.Errorf("%s ended by itself: %v\n%s", p.role, p.cmd.ProcessState, p.log)
	}
	p.cmd = nil
}

package carry_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/limitless"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/limitless"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/spool"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// TestMain runs a bridge or a node if a test started it as one.
func TestMain(m *testing.M) {
	if role := os.Getenv("KILLED_ROLE"); role != "" {
		if err := roles[role](os.Getenv("KILLED_DIR"), os.Getenv("KILLED_AT"), os.Getenv("KILLED_SECRET")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if url := os.Getenv("BRIDGE_URL"); url != "" {
		if err := bridge(url, os.Getenv("BRIDGE_PASSWORD"), os.Getenv("BRIDGE_DIR"), os.Getenv("BRIDGE_ROUND")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	rounds  = 3
	seconds = 12 // seconds of sound in each round
)

// packet is an Opus packet that says which one it is.
func packet(round, i int) []byte { return fmt.Appendf([]byte{0xf8}, "round %d packet %04d", round, i) }

// begun opens a bridge's stored data in a folder, and connects it. The spool takes the key that the
// node sends, and keyed gets the result.
func begun(cfg wear.Config, dir string, keyed func(error)) (state *carry.State, s *spool.Spool, lost []string, c *wear.Client, err error) {
	if state, err = carry.OpenState(filepath.Join(dir, "state.json")); err != nil {
		return
	}
	if cfg.Boot, err = state.Begin(); err != nil {
		return
	}
	if s, lost, err = spool.Open(filepath.Join(dir, "spool"), 0); err != nil {
		return
	}
	cfg.Device, cfg.Window, cfg.Hello = "pin", carry.Window, wire.Hello{Model: "bridge", Firmware: "1", Keeps: true}
	cfg.OnCmd = func(cmd *wire.Cmd) {
		if cmd.Cmd == wire.CmdKey {
			keyed(s.SetKey(cmd.To))
		}
	}
	c, err = wear.Dial(cfg)
	return
}

// bridge reports that it is ready, waits for a line, and carries the sound of a round. After the
// last round there is no sound.
func bridge(url, password, dir, n string) error {
	round, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	key := make(chan error, 8)
	state, s, lost, c, err := begun(wear.Config{URL: url, Password: password}, dir, func(err error) { key <- err })
	if err != nil || len(lost) > 0 {
		return fmt.Errorf("%v, %v", lost, err)
	}
	if err := <-key; err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	var capture bytes.Buffer
	fmt.Fprintf(&capture, `{"t":1,"op":"connect"}`+"\n")
	for i := 0; round < rounds && i < 50*seconds; i++ {
		for _, p := range frame.Split(uint64(i), frame.AppendLive(nil, packet(round, i)), 180) {
			fmt.Fprintf(&capture, `{"t":%d,"char":"%s","hex":"%x"}`+"\n", 1+20*i, frame.NotifyChar, p)
		}
	}
	all := s.Len() + seconds
	go func() {
		for s.Len() < all {
			time.Sleep(time.Millisecond) // the spool has no event for its length; the parent bounds the wait
		}
		fmt.Println("kept")
	}()
	rep, err := carry.Run(context.Background(), carry.Config{Dialer: link.NewCapture(&capture), Client: c, State: state,
		Family: limitless.Family, Spool: s, FirstWait: time.Millisecond, Lossless: round == rounds})
	if err == nil && rep.Waiting > 0 {
		err = fmt.Errorf("%d messages wait", rep.Waiting)
	}
	return err
}

// Live sound reaches the node once, although the node took nothing and the bridge was killed each
// time it had heard some.
func TestKilled(t *testing.T) {
	n := carrytest.NewNode(t)
	dir := t.TempDir()
	for round := range rounds + 1 {
		n.Disk.Refuse(false)
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(carrytest.Deadline(t), self, "-test.run=^$")
		cmd.Env = append(os.Environ(), "BRIDGE_URL="+n.URL, "BRIDGE_PASSWORD="+n.Password, "BRIDGE_DIR="+dir, fmt.Sprint("BRIDGE_ROUND=", round))
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		expect := func(want string) {
			t.Helper()
			if line, err := lines.ReadString('\n'); strings.TrimSpace(line) != want {
				rest, _ := io.ReadAll(lines)
				t.Fatalf("round %d: %s%s (%v), want %s", round, line, rest, err, want)
			}
		}
		expect("ready")
		n.Disk.Refuse(round < rounds)
		if _, err := io.WriteString(in, "go\n"); err != nil {
			t.Fatal(err)
		}
		if round < rounds {
			expect("kept")
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			continue
		}
		rest, _ := io.ReadAll(lines)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, rest)
		}
	}
	times := map[string]int{}
	for _, e := range n.Open(t, memory.KindAudio) {
		list, err := wire.Packets(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			times[string(p)]++
		}
	}
	for round := range rounds {
		for i := range 50 * seconds {
			if got := times[string(packet(round, i))]; got != 1 {
				t.Fatalf("round %d, packet %d is there %d times", round, i, got)
			}
		}
	}
	if names, err := filepath.Glob(filepath.Join(dir, "spool", "*.lks")); err != nil || len(names) > 1 {
		t.Errorf("%v are left, %v", names, err)
	}
	if len(n.Disk.OfKind(memory.KindSealed)) == 0 {
		t.Error("nothing came sealed: the test shows nothing")
	}
}

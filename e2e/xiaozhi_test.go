package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/node/extract/sound"
)

// A Xiaozhi device made of npm's clients for WebSocket and MQTT finds its server, sends the
// firmware's own sound, and gets a spoken answer.
func TestXiaozhiFromNPM(t *testing.T) {
	npm(t, "ws/package.json")
	npm(t, "mqtt/package.json")
	dir := t.TempDir()
	write := func(name string, b []byte) (path string) {
		t.Helper()
		path = filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	b, err := os.ReadFile("../firmware-bridge/frame/xiaozhi/testdata/framing.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct{ Opus json.RawMessage }
	mustParse(t, string(b), &vectors)
	packets := write("packets.json", vectors.Opus)

	h := newHome(t)
	d := h.start()
	ears := speechtest.Wyoming(t)
	h.must("engine", "add", "ears", ears.Address)
	ears.Says(func([]byte) string { return "What does Ana like?" }, nil)
	h.must("add", "--plain", "Ana likes green tea")
	for kind, more := range map[string][]string{"websocket": nil, "mqtt": {"--mqtt", "127.0.0.1:0"}} {
		t.Run(kind, func(t *testing.T) {
			before := len(ears.Calls())
			c := h.addDevice(kind)
			var first struct{ Text string }
			mustParse(t, started(t, "locket-bridge", append([]string{"--json", "xiaozhi", "--listen", "127.0.0.1:0", "--broker", d.broker, "--name", kind,
				"--password-file", write(kind+".password", []byte(c.Password)), "--state", filepath.Join(dir, kind+".json")}, more...)...), &first)
			_, address, ok := strings.Cut(first.Text, " address is ")
			if !ok {
				t.Fatalf("the bridge says %s", first.Text)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			device := exec.CommandContext(ctx, "node", "xiaozhi.cjs", address, kind, packets)
			var out, errs bytes.Buffer
			device.Dir, device.Stdout, device.Stderr = "clients", &out, &errs
			if err := device.Run(); err != nil {
				t.Fatalf("%v\n%s%s", err, &out, &errs)
			}
			var answer struct {
				Text    string
				Packets [][]byte
			}
			mustParse(t, out.String(), &answer)
			if !strings.Contains(answer.Text, "green tea") {
				t.Errorf("the answer is %q", answer.Text)
			}
			var dec sound.Decoder
			samples, loud := 0, 0
			for _, p := range answer.Packets {
				pcm, err := dec.Decode("opus", sound.Rate, p)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range pcm {
					if samples++; v > 1000 || v < -1000 {
						loud++
					}
				}
			}
			if samples < sound.Rate/2 || loud < samples/20 {
				t.Errorf("%d samples are spoken, %d of them loud", samples, loud)
			}
			if calls := ears.Calls()[before:]; len(calls) != 1 || len(calls[0].Sound) < sound.Rate {
				t.Errorf("the ears heard %d times", len(calls))
			}
		})
	}
}

// started returns the first line of a command that runs until the test ends.
func started(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, name), args...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	if !lines.Scan() {
		t.Fatalf("%s says nothing: %v", name, lines.Err())
	}
	first := lines.Text()
	go func() { // it must not block without a reader
		for lines.Scan() {
		}
	}()
	return first
}

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// wyoming writes one event like Home Assistant, and reads the answer. It uses none of our code.
func wyoming(t *testing.T, address, kind string, data map[string]any) (answer string, said map[string]any) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	more, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "{\"type\": %q, \"version\": \"1.10.2\", \"data_length\": %d}\n%s", kind, len(more), more); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	line, err := in.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var h struct {
		Type   string
		Length int64 `json:"data_length"`
	}
	if err := json.Unmarshal(line, &h); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if err := json.NewDecoder(io.LimitReader(in, h.Length)).Decode(&said); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return h.Type, said
}

// Assist asks the memory through a bridge, without a model: with a key on the node's socket. It
// learns nothing more once the key is revoked. A secret stays in the vault.
func TestAssist(t *testing.T) {
	h := newHome(t)
	h.start()
	h.must("add", "--plain", "Ana likes green tea")
	h.must("add", "The alarm code is 4417 for the house")
	var made struct{ Key string }
	h.mustJSON(&made, "app", "add", "assist", "--can", "read", "--types", "semantic,episodic", "--sensitivity", "secret")
	dir := t.TempDir()
	conf := fmt.Sprintf("[assist]\nlisten = \"127.0.0.1:0\"\nnode = %q\nkey_file = \"key\"\n", filepath.Join(h.dir, "locket.sock"))
	for name, text := range map[string]string{"bridge.toml": conf, "key": made.Key + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	bridge := exec.CommandContext(ctx, filepath.Join(bin, "locket-bridge"), "--json", "run", "--config", filepath.Join(dir, "bridge.toml"))
	out, err := bridge.StdoutPipe()
	if err == nil {
		err = bridge.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = bridge.Wait() // it was killed
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the bridge says nothing")
	}
	address := lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:]
	address = strings.TrimRight(address, `"}`)

	if kind, info := wyoming(t, address, "describe", map[string]any{}); kind != "info" || len(info["handle"].([]any)) != 1 {
		t.Errorf("%s %v", kind, info)
	}
	for _, c := range []struct{ kind, question, want, text string }{
		{"transcript", "what does Ana like?", "handled", "green tea"},
		{"recognize", "what does Ana like?", "intent", "green tea"},
		{"transcript", "where does Gustavo work?", "not-handled", "I don't know."},
		{"recognize", "where does Gustavo work?", "not-recognized", "I don't know."},
	} {
		kind, said := wyoming(t, address, c.kind, map[string]any{"text": c.question, "language": "en"})
		if text, _ := said["text"].(string); kind != c.want || !strings.Contains(text, c.text) {
			t.Errorf("%s %s: %s %v", c.kind, c.question, kind, said)
		}
	}
	if list := h.must("vault"); !strings.Contains(list, "Alarm") {
		t.Errorf("the vault has %s", list)
	}
	if kind, said := wyoming(t, address, "transcript", map[string]any{"text": "what is the alarm code?"}); strings.Contains(fmt.Sprint(said), "4417") {
		t.Errorf("%s %v", kind, said)
	}
	if log := h.must("app", "log", "assist"); !strings.Contains(log, "ask") {
		t.Errorf("the account says %s", log)
	}
	h.must("app", "revoke", "assist")
	if kind, said := wyoming(t, address, "transcript", map[string]any{"text": "what does Ana like?"}); kind != "not-handled" || said["text"] != "I can't look into the memory now." {
		t.Errorf("%s %v", kind, said)
	}
}

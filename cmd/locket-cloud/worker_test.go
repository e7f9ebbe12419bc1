package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
)

// say runs the command and returns what it printed.
func say(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

func TestWorkerRequest(t *testing.T) {
	home := filepath.Join(t.TempDir(), "worker")
	code, first, stderr := say(t, "worker", "invite-key", "--home", home)
	if code != exitDone {
		t.Fatal(code, stderr)
	}
	r, err := envelope.ParseRequest(first)
	if err != nil || !strings.HasPrefix(r.Recipient, "age1") {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, second, _ := say(t, "worker", "invite-key", "--home", home); second != first {
		t.Error("a second request before the first was used")
	}
}

func TestWorkerEngines(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	code, out, stderr := say(t, "--json", "worker", "engines")
	if code != exitDone {
		t.Fatal(code, stderr)
	}
	for line := range strings.Lines(out) {
		var f struct {
			Present bool
			Need    string
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil || f.Present || !strings.Contains(f.Need, "install Debian's") && !strings.Contains(f.Need, "such as Ollama; without one") {
			t.Errorf("%s: %v", line, err)
		}
	}
	if strings.Count(out, "\n") != 3 {
		t.Errorf("%q", out)
	}
	if _, out, _ = say(t, "worker", "engines", "--wyoming", "127.0.0.1:10300", "--sight", "none", "--llm-url", "http://127.0.0.1:11434/v1", "--llm-model", "qwen3:8b", "--price", "qwen3:8b=0.1/1"); out != "transcribe: wyoming\nlanguage: qwen3:8b at 127.0.0.1:11434\n" {
		t.Errorf("%q", out)
	}
	if code, _, stderr := say(t, "worker", "engines", "--sight", "none", "--llm-url", "http://127.0.0.1:11434/v1", "--llm-model", "m", "--price", "m=cheap"); code != exitUsage || !strings.Contains(stderr, "want MODEL=PROMPT/COMPLETION") {
		t.Error(code, stderr)
	}
	if _, out, _ = say(t, "worker", "engines", "--speech", "openai", "--sight", "none"); !strings.Contains(out, "set its address") {
		t.Errorf("%q", out)
	}
}

func TestWorkerUsage(t *testing.T) {
	home, file := t.TempDir(), filepath.Join(t.TempDir(), "welcome")
	if err := os.WriteFile(file, []byte(envelope.Welcome{}.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code  int
		words string
		args  []string
	}{
		{exitUsage, "--home is missing", []string{"worker"}},
		{exitUsage, "--home is missing", []string{"worker", "invite-key"}},
		{exitUsage, "--relay is missing", []string{"worker", "join", "--home", home, "x"}},
		{exitUsage, "not known", []string{"worker", "engines", "--speech", "siri"}},
		{exitFailed, "locket-space-1.", []string{"worker", "join", "--home", home, "--relay", "http://127.0.0.1:1", "x"}},
		{exitFailed, "worker invite-key --home " + home + "' prints", []string{"worker", "join", "--home", home, "--relay", "http://127.0.0.1:1", "x"}},
		{exitUsage, "give it as @" + file, []string{"worker", "join", "--home", home, "--relay", "http://127.0.0.1:1", file}},
		{exitFailed, "make one first", []string{"worker", "join", "--home", home, "--relay", "http://127.0.0.1:1", envelope.Welcome{}.String()}},
		{exitFailed, "make one first", []string{"worker", "join", "--home", home, "--relay", "http://127.0.0.1:1", "@" + file}},
		{exitFailed, "read the welcome", []string{"worker", "join", "--home", home, "--relay", "http://127.0.0.1:1", "@" + home + "/nowhere"}},
		{exitFailed, "job queue", []string{"jobs", "list", "--home", home}},
		{exitUsage, "--home or --db is missing", []string{"jobs", "list"}},
		{exitUsage, "want waiting", []string{"jobs", "list", "--home", home, "--state", "asleep"}},
		{exitUsage, "--space", []string{"jobs", "list", "--home", home, "--space", "x"}},
		{exitUsage, "not the number of a job", []string{"jobs", "retry", "--home", home, "1", "x"}},
		{exitUsage, "--parallel", []string{"worker", "--home", home, "--parallel", "0"}},
		{exitUsage, "--price", []string{"worker", "--home", home, "--price", "llava"}},
		{exitUsage, "budget", []string{"worker", "--home", home, "--budget-usd", "-1"}},
		{exitUsage, "budget", []string{"worker", "--home", home, "--budget-usd", "0.0000009"}}, // not one without a limit
		{exitFailed, "read a key", []string{"worker", "engines", "--openai-key-file", filepath.Join(home, "none")}},
	} {
		if code, _, stderr := say(t, c.args...); code != c.code || !strings.Contains(stderr, c.words) {
			t.Errorf("%v: %d %q", c.args, code, stderr)
		}
	}
}

func TestWorkerRunsAndListsJobs(t *testing.T) {
	home := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	out := &firstLines{until: "working in 0 spaces", then: cancel}
	var stderr bytes.Buffer
	if code := run(ctx, []string{"worker", "--home", home}, strings.NewReader(""), out, &stderr); code != exitDone {
		t.Fatal(code, stderr.String())
	}
	if !strings.Contains(out.String(), "invite-key --home "+home) {
		t.Errorf("a worker that nobody has let in: %s", out.String())
	}
	if code, out, stderr := say(t, "jobs", "list", "--home", home); code != exitDone || out != "" || !strings.HasPrefix(stderr, "no such jobs") {
		t.Fatal(code, out, stderr)
	}
}

// firstLines calls then once the text that it waits for was written.
type firstLines struct {
	bytes.Buffer
	until string
	then  func()
}

func (f *firstLines) Write(p []byte) (int, error) {
	n, err := f.Buffer.Write(p)
	if strings.Contains(f.String(), f.until) {
		f.then()
	}
	return n, err
}

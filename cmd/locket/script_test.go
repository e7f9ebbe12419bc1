package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/internal/testing/plugintest"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/wasm"
)

// clearing removes the compiled plugins once the tests are done.
type clearing struct {
	testscript.TestingM
	done func() error
}

func (c clearing) Run() int {
	code := c.TestingM.Run()
	if err := c.done(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func TestMain(tests *testing.M) {
	if engines.IsProcess(os.Args) {
		os.Exit(engines.ServeProcess(os.Stdin, os.Stdout, os.Stderr))
	}
	if wasm.IsWorker(os.Args) {
		os.Exit(wasm.ServeWorker(os.Stdin, os.Stdout, os.Stderr))
	}
	_, done, err := plugincache.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var m testscript.TestingM = clearing{tests, done}
	testscript.Main(m, map[string]func(){"locket": func() {
		ctx, stop := untilSignal()
		defer stop()
		os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, testDeps()))
	}})
}

// TestScripts runs testdata/script in separate processes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true, ContinueOnError: true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, "LOCKET_HOME="+e.WorkDir+"/home", "LOCKET_ZONE=UTC", plugincache.Env+"="+os.Getenv(plugincache.Env), "XDG_CONFIG_HOME="+e.WorkDir+"/config", "HOME="+e.WorkDir)
			e.Vars = append(e.Vars, cheapHome...)
			command, err := exec.LookPath("locket")
			e.Vars = append(e.Vars, "BIN="+filepath.Dir(command)) // a PATH without the engines of this machine
			e.Values[daemonKey{}] = new(exec.Cmd)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"capture": capture,
			"lines":   countLines,
			"daemon":  daemonCmd,
			"module":  module,
			"web":     web,
		},
	})
}

// exits CODE COMMAND...: the command's exit code, exactly.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// capture NAME REGEXP: the first group of the last output becomes a variable.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if neg || m == nil {
		ts.Fatalf("the output has no %s", args[1])
	}
	ts.Setenv(args[0], m[1])
}

// lines N: the last output has N lines, each a JSON object in snake_case.
func countLines(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"), "\n")
	if neg || len(got) != want {
		ts.Fatalf("%d lines, want %d", len(got), want)
	}
	for _, line := range got {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			ts.Fatalf("%q: %v", line, err)
		}
		for _, key := range keysIn(v) {
			if !regexp.MustCompile(`^[a-z][a-z0-9_ ]*$`).MatchString(key) {
				ts.Fatalf("%q is not in snake_case", key)
			}
		}
	}
}

func keysIn(v any) (keys []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			keys = append(append(keys, k), keysIn(x)...)
		}
	case []any:
		for _, x := range v {
			keys = append(keys, keysIn(x)...)
		}
	}
	return keys
}

// daemonKey finds a script's daemon among its values.
type daemonKey struct{}

// daemonCmd: daemon start ARGS... runs locket and waits until it is ready; daemon stop sends
// SIGTERM, after which it must exit with 0.
func daemonCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: daemon start ARGS... | daemon stop")
	}
	held := ts.Value(daemonKey{}).(*exec.Cmd)
	if args[0] == "stop" {
		ts.Check(held.Process.Signal(syscall.SIGTERM))
		ts.Check(held.Wait())
		held.Process = nil
		return
	}
	path, err := exec.LookPath("locket")
	ts.Check(err)
	cmd := exec.Command(path, append([]string{"run", "--json"}, args[1:]...)...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"LOCKET_HOME", "LOCKET_ZONE", "XDG_CONFIG_HOME", "HOME", "PATH", plugincache.Env, "LOCKET_PLUGINS_DISABLED", "LOCKET_BROKER_LISTEN", "LOCKET_DISK_RESERVE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	*held = *cmd
	ts.Defer(func() {
		if held.Process != nil {
			_ = held.Process.Kill()
			_ = held.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(line, `"ready":true`) {
		ts.Fatalf("daemon says %q, %v", line, err)
	}
	ts.Logf("%s", line)
}

// module FILE writes an empty WebAssembly module; module silent FILE writes one that follows the
// contract and answers nothing to any input, valid or not.
func module(ts *testscript.TestScript, neg bool, args []string) {
	b := []byte("\x00asm\x01\x00\x00\x00")
	if made := map[string][]byte{"silent": plugintest.SilentModule, "trapping": plugintest.TrappingModule}[args[0]]; made != nil {
		b, args = made, args[1:]
	}
	if neg || len(args) != 1 {
		ts.Fatalf("usage: module [silent | trapping] FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o644))
}

// web FOLDER serves a folder over HTTP on this machine, and is an OCI registry
// for ann with the password sesame; WEB is its URL, OCI that of the registry, AT
// the host. The file endless in it never ends, the folder moved redirects, and deaf
// is an engine that hears "la la la" in everything.
func web(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: web FOLDER")
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	oci := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	mux.HandleFunc("/v2/", func(w http.ResponseWriter, r *http.Request) { // an OCI registry, only for ann
		if user, password, _ := r.BasicAuth(); user != "ann" || password != "sesame" {
			w.Header().Set("Www-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		oci.ServeHTTP(w, r)
	})
	mux.Handle("/moved/", http.RedirectHandler("http://elsewhere.invalid/login", http.StatusFound))
	mux.HandleFunc("/deaf/inference", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"text":" la la la"}`) }) // whisper.cpp's
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for part := make([]byte, 64<<10); ; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	s := httptest.NewServer(mux)
	ts.Defer(s.Close)
	ts.Setenv("WEB", s.URL)
	ts.Setenv("OCI", "oci://"+strings.TrimPrefix(s.URL, "http://"))
	ts.Setenv("AT", strings.TrimPrefix(s.URL, "http://"))
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"aead.dev/minisign"
)

// target is a system and a processor, as Go names them.
type target struct{ os, arch, arm string }

// String returns a name such as linux/arm/7.
func (t target) String() string { return strings.TrimSuffix(t.os+"/"+t.arch+"/"+t.arm, "/") }

// name returns the form for file names, such as linux_armv7.
func (t target) name() string {
	if t.arm != "" {
		return t.os + "_armv" + t.arm
	}
	return t.os + "_" + t.arch
}

func (t target) exe() string {
	if t.os == "windows" {
		return ".exe"
	}
	return ""
}

// commands returns the commands that a target gets. The bridge needs BlueZ, which Windows does not
// have. Nobody serves a relay from a Mac or from Windows. The worker's job queue (River 0.31) does
// not compile for 32 bits.
func (t target) commands() []string {
	switch {
	case t.os == "windows":
		return []string{"locket"}
	case t.os == "darwin", t.arch == "arm":
		return []string{"locket", "locket-bridge"}
	}
	return []string{"locket", "locket-bridge", "locket-cloud"}
}

// commands returns the commands that some package for a target has.
func (r *making) commands(t target) []string {
	return slices.DeleteFunc(t.commands(), func(c string) bool {
		return !slices.ContainsFunc(r.packs, func(p pack) bool { return slices.Contains(p.commands, c) })
	})
}

var targets = []target{{"linux", "amd64", ""}, {"linux", "arm64", ""}, {"linux", "arm", "7"}, {"linux", "riscv64", ""},
	{"darwin", "amd64", ""}, {"darwin", "arm64", ""}, {"windows", "amd64", ""}}

// chooseTargets parses a list of targets. An empty list means all.
func chooseTargets(list string) (chosen []target, err error) {
	if list == "" {
		return targets, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("--targets: %q is not one of %v", name, targets)
		}
		chosen = append(chosen, targets[i])
	}
	return chosen, nil
}

// has reports whether t gets all of these.
func (t target) has(commands ...string) bool {
	return !slices.ContainsFunc(commands, func(c string) bool { return !slices.Contains(t.commands(), c) })
}

// binary returns the path of a binary that was built.
func (r *making) binary(t target, command string) string {
	return filepath.Join(r.work, "bin", t.name(), command+t.exe())
}

// environ returns the environment of a build. It leaves out the settings of this machine.
func (r *making) environ(t target) []string {
	keep := []string{"PATH", "HOME", "TMPDIR", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOINSECURE", "GOROOT",
		"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "SSL_CERT_FILE", "SystemRoot", "LocalAppData", "USERPROFILE"}
	env := []string{"CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false -tags=stdjson,gjson,nethttpomithttp2", "GOTOOLCHAIN=" + r.goes, "GOENV=off", "GOWORK=off",
		"GOOS=" + t.os, "GOARCH=" + t.arch, "GOARM=" + t.arm, "GOAMD64=v1", "GOARM64=v8.0", "GORISCV64=rva20u64",
		fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix())}
	for _, name := range keep {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// small returns the build flags from Taskfile.yml (docs/decisions.md, "Why is only a part of the
// command built with inlining?").
func (r *making) small() ([]string, error) {
	b, err := os.ReadFile(filepath.Join(r.root, "Taskfile.yml"))
	_, after, _ := strings.Cut(string(b), "\n  SMALL: ")
	line, _, found := strings.Cut(after, "\n")
	if err == nil && !found {
		err = errors.New("no flags SMALL in Taskfile.yml")
	}
	return strings.Fields(line), err
}

// compile builds one command.
func (r *making) compile(ctx context.Context, t target, command, to string, flags ...string) error {
	key, err := minisign.PublicKeyFromFile(filepath.Join(r.root, publicKey))
	if err != nil {
		return fmt.Errorf("%s: %w", publicKey, err)
	}
	stamp := fmt.Sprintf("-s -w -funcalign=8 -X main.release=%s -X main.commit=%s -X main.builtAt=%s -X main.releaseKey=%s", r.version, r.commit, r.time.Format(time.RFC3339), key.String())
	small, err := r.small()
	if err != nil {
		return err
	}
	args := slices.Concat([]string{"build", "-ldflags", stamp}, small, flags, []string{"-o", to, "./cmd/" + command})
	return r.do(ctx, r.environ(t), "go", args...)
}

// do runs a program in the source.
func (r *making) do(ctx context.Context, env []string, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = r.root, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return nil
}

func (r *making) build(ctx context.Context, chosen []target) error {
	for _, t := range chosen {
		for _, c := range r.commands(t) {
			if err := r.compile(ctx, t, c, r.binary(t, c)); err != nil {
				return fmt.Errorf("%s for %s: %w", c, t, err)
			}
			fmt.Fprintf(r.log, "  %s for %s\n", c, t)
		}
	}
	return nil
}

// shells are the shells for which there are completion scripts.
var shells = []string{"bash", "zsh", "fish"}

// manuals makes each command write its man pages and completions into its own folder. For this, the
// command is built for this machine, with the code that writes them.
func (r *making) manuals(ctx context.Context) error {
	here := target{os: runtime.GOOS, arch: runtime.GOARCH}
	for _, c := range r.commands(targets[0]) {
		program := filepath.Join(r.work, "manual", c)
		if err := r.compile(ctx, here, c, program, "-tags=stdjson,gjson,nethttpomithttp2,manual"); err != nil {
			return err
		}
		pages := r.pages(c)
		if err := os.MkdirAll(pages, 0o755); err != nil {
			return err
		}
		if err := r.do(ctx, r.environ(here), program, "manual", pages); err != nil {
			return err
		}
		for _, shell := range shells {
			cmd := exec.CommandContext(ctx, program, "completion", shell)
			cmd.Env = r.environ(here)
			script, err := cmd.Output()
			if err != nil {
				return fmt.Errorf("%s completion %s: %w", c, shell, err)
			}
			if err := os.WriteFile(r.completion(c, shell), script, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// pages returns the folder of a command's man pages.
func (r *making) pages(command string) string { return filepath.Join(r.work, "man", command) }

// completion returns the file of a command's completions for a shell.
func (r *making) completion(command, shell string) string {
	return filepath.Join(r.work, "man", command+"."+shell)
}

package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by the linker: -X main.release=v0.1.0 -X main.commit=… -X main.builtAt=….
// What is not set is taken from what Go itself notes of a checkout.
var (
	release string
	commit  string
	builtAt string
)

// build says which source this binary is made of.
type build struct {
	Release  string `json:"release"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the checkout had changes
	Built    string `json:"built,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func version() build {
	b := build{Release: release, Commit: commit, Built: builtAt, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Release == "" {
			b.Release = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				if b.Commit == "" {
					b.Commit = s.Value
				}
			case "vcs.modified":
				b.Modified = s.Value == "true"
			case "vcs.time":
				if b.Built == "" {
					b.Built = s.Value
				}
			}
		}
	}
	if b.Release == "" {
		b.Release = "(devel)"
	}
	return b
}

// String is one line.
func (b build) String() string {
	s := b.Release
	if b.Commit != "" {
		s += " commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Modified {
			s += "+changes"
		}
	}
	if b.Built != "" {
		s += " of " + b.Built
	}
	return s + " " + b.Go + " " + b.Platform
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print release, commit and build", Args: nothing(),
		RunE: func(*cobra.Command, []string) error {
			v := version()
			return a.print(v, func(w io.Writer) { fmt.Fprintf(w, "locket %s\n", v) })
		},
	}
}

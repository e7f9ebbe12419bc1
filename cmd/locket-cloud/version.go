package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by the linker in releases: -X main.release=v0.1.0 -X main.commit=… -X main.builtAt=….
var (
	release string
	commit  string
	builtAt string
)

// build says which source this binary is made of.
type build struct {
	Release  string `json:"release"`
	Commit   string `json:"commit,omitempty"`
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
			if s.Key == "vcs.revision" && b.Commit == "" {
				b.Commit = s.Value
			}
		}
	}
	if b.Release == "" {
		b.Release = "(devel)"
	}
	return b
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print release, commit and build", Args: nothing,
		RunE: func(*cobra.Command, []string) error {
			b := version()
			if a.json {
				return json.NewEncoder(a.stdout).Encode(b)
			}
			_, err := fmt.Fprintf(a.stdout, "locket-cloud %s %s %s %s\n", b.Release, b.Commit, b.Go, b.Platform)
			return err
		},
	}
}

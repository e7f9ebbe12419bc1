// Package version says from which source a binary was built.
package version

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// Build says from which source a binary was built.
type Build struct {
	Release  string `json:"release"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the checkout had changes
	Built    string `json:"built,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Of combines what the linker set (-X main.release, main.commit, main.builtAt; empty: it did not)
// with what Go records about a checkout.
func Of(release, commit, builtAt string) Build {
	b := Build{Release: release, Commit: commit, Built: builtAt, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Release = cmp.Or(b.Release, info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = cmp.Or(b.Commit, s.Value)
			case "vcs.modified":
				b.Modified = s.Value == "true"
			case "vcs.time":
				b.Built = cmp.Or(b.Built, s.Value)
			}
		}
	}
	b.Release = cmp.Or(b.Release, "(devel)")
	return b
}

// String returns one line.
func (b Build) String() string {
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

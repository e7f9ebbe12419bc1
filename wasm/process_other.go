//go:build !linux

package wasm

import (
	"io"
	"os/exec"
	"time"
)

func ownProcessGroup(*exec.Cmd) {}

func widen(io.WriteCloser, io.ReadCloser) {}

// used is not known on this system; it is assumed to be all the time since the start.
func (p *process) used() time.Duration { return time.Since(p.began) }

// queued is not known on this system: a late call counts as late by its own fault.
func (p *process) queued() time.Duration { return 0 }

// lower has no counterpart on this system: the worker keeps its weight.
func (p *process) lower(rank) {}

//go:build !linux

package wasm

import (
	"io"
	"os/exec"
	"time"
)

func apart(*exec.Cmd) {}

func widen(io.WriteCloser, io.ReadCloser) {}

// used is not known here, and taken for all the time that there was.
func (p *process) used() time.Duration { return time.Since(p.began) }

// queued is not known here: a call that is late is late by its own doing.
func (p *process) queued() time.Duration { return 0 }

// lower has no counterpart here: the worker keeps its weight.
func (p *process) lower(rank) {}

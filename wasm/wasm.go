// Package wasm runs extractor plugins: WebAssembly modules that receive an event and answer with
// candidates, and can do nothing else. The contract is in docs/wasm.md and package abi.
//
// A plugin runs in this process, or separately in its publisher's worker process, which runs the
// same code under restrictions. A domain is the plugins of one publisher.
//
// A Host compiles and holds plugins. A Plugin is one module under one Manifest, with its grants and
// limits. An instance is a plugin with its own memory; a plugin keeps a few, and replaces one after
// any fault. Fuel is what a call may spend; the module is rewritten so that it counts. A fault is a
// call that failed through the plugin's doing, or its worker's.
//
// This is the only package that imports wazero.
package wasm

import (
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/wasm/abi"
)

// Reasons for which a module was not loaded.
var (
	ErrManifest  = errors.New("plugin manifest refused")
	ErrModule    = errors.New("plugin module refused")
	ErrImport    = errors.New("plugin imports what it may not have")
	ErrHash      = errors.New("plugin module is not the manifest's")
	ErrSignature = errors.New("plugin signature refused")
)

// Reasons for which a call failed. All but ErrDisabled, ErrKind, ErrInput, ErrPlugin, ErrClosed and
// ErrNoWorker are faults.
var (
	ErrFuel     = errors.New("out of fuel")
	ErrMemory   = errors.New("out of memory")
	ErrStack    = errors.New("calls nested too deep")
	ErrTime     = errors.New("out of time")
	ErrStarved  = errors.New("the machine was too busy to run it")
	ErrTrap     = errors.New("trapped")
	ErrOutput   = errors.New("output refused")
	ErrPlugin   = errors.New("plugin reports")
	ErrDisabled = errors.New("plugin is disabled")
	ErrKind     = errors.New("plugin does not take this kind of event")
	ErrInput    = errors.New("event is larger than a plugin may be given")
	ErrClosed   = errors.New("plugin host is closed")
	ErrWorker   = errors.New("worker process failed")
	ErrNoWorker = errors.New("this host has no worker processes")
)

// FaultKind names a fault in metrics.
type FaultKind string

// The faults.
const (
	FaultFuel   FaultKind = "fuel"
	FaultMemory FaultKind = "memory"
	FaultStack  FaultKind = "stack"
	FaultTime   FaultKind = "time"
	FaultTrap   FaultKind = "trap"
	FaultOutput FaultKind = "output"
	FaultWorker FaultKind = "worker" // its process ended, or broke the protocol
	// FaultStarved: a worker did not get a processor. It does not count towards disabling the
	// plugin; its worker is ended like a late one. Only the host reports it.
	FaultStarved FaultKind = "starved"
)

var faultErrors = map[FaultKind]error{FaultFuel: ErrFuel, FaultMemory: ErrMemory, FaultStack: ErrStack,
	FaultTime: ErrTime, FaultTrap: ErrTrap, FaultOutput: ErrOutput, FaultWorker: ErrWorker, FaultStarved: ErrStarved}

// faultKinds in the order of their numbers between a host and its workers: those that a worker may
// report.
var faultKinds = []FaultKind{FaultFuel, FaultMemory, FaultStack, FaultTime, FaultTrap, FaultOutput, FaultWorker}

// Fault is a call that failed through the plugin's doing. It wraps the Err of its kind and, for a
// refused output, an *abi.Error with the place.
type Fault struct {
	Plugin   string
	Kind     FaultKind
	Detail   error // *abi.Error, or the engine's error; or nil
	Disabled bool  // this fault disabled the plugin
	// Ended is when its worker was ended for it; zero: it was not, or not in this process.
	Ended time.Time
}

func (f *Fault) Error() string {
	s := fmt.Sprintf("plugin %s: %v", f.Plugin, faultErrors[f.Kind])
	if f.Detail != nil {
		s += ": " + f.Detail.Error()
	}
	if f.Disabled {
		s += "; it is disabled now"
	}
	return s
}

// Unwrap returns the sentinel of the kind and the detail.
func (f *Fault) Unwrap() []error {
	if f.Detail == nil {
		return []error{faultErrors[f.Kind]}
	}
	return []error{faultErrors[f.Kind], f.Detail}
}

// place makes an *abi.Error for an answer that can be decoded but is impossible.
func place(code abi.Code, format string, a ...any) *abi.Error {
	return &abi.Error{Code: code, Place: fmt.Sprintf(format, a...)}
}

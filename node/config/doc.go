// Package config is how a node is set up, and where each setting came from.
//
//   - A key is a setting's dotted name: "broker.url".
//   - An origin is where a value was taken from: the default, a line of the
//     file, an environment variable, a flag. A later one of these wins.
//
// A setting that is not known is an error that names its place, wherever it
// was written: nothing is ignored in silence.
package config

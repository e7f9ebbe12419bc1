// Package config has a node's settings, and where each of them came from.
//
//   - A key is a setting's dotted name: "broker.url".
//   - An origin is where a value came from: the default, a line of the
//     file, an environment variable, a flag. A later one of these wins, also
//     over another setting that it excludes: unlock.key_file given by a flag
//     replaces unlock.passphrase_file of the file.
//
// An unknown setting is an error that names its place, wherever it was written:
// nothing is silently ignored.
package config

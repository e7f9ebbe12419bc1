// Package memtrim keeps a process's memory near what it needs.
//
//   - The heap is what Go's allocator has got from the system. After work, a
//     part of it is free, and the system does not know.
//   - The image is the program's own file in memory. Each page that was ever
//     touched counts as the process's memory (VmRSS), even if only the start
//     needs it: tables of plugins, tables of words, code that runs once. These
//     pages were never written to, so the kernel can drop them at any time and
//     read them again. On a machine with little memory it does so only when it
//     has to, and then a program waits for it.
//   - Mapped files are a database's files. The same applies to them.
package memtrim

import "runtime/debug"

// release gives back the parts of heap and image that are not in use, and of
// the mapped files under the folder files, if that is not empty. It collects
// the heap, which takes about 1 ms for each 2 MB with pointers. Image pages
// that are needed again come back from the page cache, 64 KB at a time; file
// pages come back from the disk. It can be called at any time, and other
// goroutines can go on.
func release(files string) {
	debug.FreeOSMemory()
	releaseMapped(files)
}

// releasePages is release without the heap. It costs almost nothing.
func releasePages(files string) { releaseMapped(files) }

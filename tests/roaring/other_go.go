// Bitmaps of 32-bit ids by the Go implementation, which shares no code with libroaring.
//
//	other_go write FILE [plain]   the ids of standard input, with runs unless plain
//	other_go read FILE            its ids, one a line
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"

	"github.com/RoaringBitmap/roaring"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func writeIds(path string, withRuns bool) {
	bitmap, in := roaring.New(), bufio.NewReader(os.Stdin)
	var id uint32
	for {
		if _, err := fmt.Fscan(in, &id); err != nil {
			break
		}
		bitmap.Add(id)
	}
	if withRuns {
		bitmap.RunOptimize()
	}
	file, err := os.Create(path)
	check(err)
	_, err = bitmap.WriteTo(file)
	check(err)
	check(file.Close())
}

func readIds(path string) {
	file, err := os.Open(path)
	check(err)
	bitmap, out := roaring.New(), bufio.NewWriter(os.Stdout)
	_, err = bitmap.ReadFrom(file)
	check(err)
	for at := bitmap.Iterator(); at.HasNext(); {
		fmt.Fprintln(out, at.Next())
	}
	check(out.Flush())
}

func main() {
	if os.Args[1] == "write" {
		writeIds(os.Args[2], len(os.Args) == 3)
	} else {
		readIds(os.Args[2])
	}
}

// Package nearest finds the name that a misspelled one was meant to be, for messages that end
// in "did you mean …?".
package nearest

import (
	"strings"
	"unicode/utf8"
)

// Name returns the candidate that takes the fewest typing mistakes to become name, or "" if
// none is near. A mistake is a letter missing, added, replaced, or swapped with its
// neighbour; upper and lower case are not told apart. Near means one mistake for each three
// letters of name, and at least one. Of candidates equally near it returns the one that sorts
// first, whatever their order.
func Name(name string, candidates []string) string {
	if name == "" {
		return ""
	}
	best, fewest := "", max(utf8.RuneCountInString(name)/3, 1)
	for _, candidate := range candidates {
		if candidate == "" {
			continue
		}
		mistakes := distance(strings.ToLower(name), strings.ToLower(candidate))
		if mistakes < fewest || mistakes == fewest && (best == "" || candidate < best) {
			best, fewest = candidate, mistakes
		}
	}
	return best
}

// distance is the optimal string alignment distance: Levenshtein's, in which swapping two
// neighbours is one mistake rather than two.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	beforeLast, last, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		beforeLast, last, row = last, row, beforeLast
		row[0] = i + 1
		for j := range to {
			replaced := last[j]
			if from[i] != to[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				row[j+1] = min(row[j+1], beforeLast[j-1]+1)
			}
		}
	}
	return row[len(to)]
}

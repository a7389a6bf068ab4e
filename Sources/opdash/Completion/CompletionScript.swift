/// The scripts that let shells complete the command line; each asks `opdash __complete WORD...`.
enum CompletionScript: String, CaseIterable {
  case bash
  case zsh
  case fish

  /// The hidden command that the scripts call.
  static let command = "__complete"

  var text: String {
    switch self {
    case .bash: Self.bashText
    case .zsh: Self.zshText
    case .fish: Self.fishText
    }
  }

  private static let bashText = #"""
    # Completes opdash in bash.
    _opdash() {
      local current text summary file cut= breaks= kind= endings=
      local -a words
      read -a words <<<"${COMP_LINE:0:COMP_POINT}"
      [[ ${COMP_LINE:COMP_POINT-1:1} == [[:blank:]] ]] && words+=("")
      current=${words[${#words[@]}-1]}
      # Readline replaces only what follows the last of these characters.
      [[ $COMP_WORDBREAKS == *:* ]] && breaks=:
      [[ $COMP_WORDBREAKS == *=* ]] && breaks+==
      [[ -n $breaks && $current == *["$breaks"]* ]] && cut=${current%"${current##*["$breaks"]}"}
      COMPREPLY=()
      while IFS=$'\t' read -r text summary; do
        case $text in
        -files | -folders) kind=$text endings=$summary ;;
        *)
          printf -v text %q "${text#"$cut"}"
          COMPREPLY+=("$text")
          ;;
        esac
      done < <("$1" __complete "${words[@]:1}" 2>/dev/null)
      [[ -z $kind ]] && return
      compopt -o filenames 2>/dev/null
      while IFS= read -r file; do
        if [[ -d $file || $kind == -files && (-z $endings || " $endings " == *" ${file##*.} "*) ]]; then
          COMPREPLY+=("$file")
        fi
      done < <(compgen -f -- "$current")
    }
    complete -o nosort -F _opdash opdash 2>/dev/null || complete -F _opdash opdash
    """#

  private static let zshText = #"""
    #compdef opdash
    # Completes opdash in zsh.
    _opdash() {
      local text summary kind endings
      local -a candidates
      while IFS=$'\t' read -r text summary; do
        case $text in
        -files | -folders) kind=$text endings=$summary ;;
        *) candidates+=("${${text//\\/\\\\}//:/\\:}${summary:+:$summary}") ;;
        esac
      done < <(command "${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
      case $kind in
      -folders) _files -/ ;;
      -files) if [[ -n $endings ]]; then _files -g "*.(${endings// /|})(-.)"; else _files; fi ;;
      *) _describe -V 'opdash' candidates ;;
      esac
    }
    if [[ $funcstack[1] == _opdash ]]; then _opdash "$@"; else compdef _opdash opdash; fi
    """#

  private static let fishText = #"""
    # Completes opdash in fish.
    function __opdash_complete
        set -l words (commandline -opc)
        set -l program $words[1]
        set -e words[1]
        set -l current (commandline -ct | string unescape)
        for line in (command $program __complete $words "$current" 2>/dev/null)
            set -l parts (string split -m 1 \t -- $line)
            switch $parts[1]
                case -folders
                    __fish_complete_directories "$current" ''
                case -files
                    set -l endings (string replace -a ' ' '|' -- $parts[2])
                    for file in (__fish_complete_path "$current")
                        if test -z "$endings"; or string match -qr "^[^\t]*(/|\.($endings))(\t|\$)" -- $file
                            echo $file
                        end
                    end
                case '*'
                    echo $line
            end
        end
    end
    complete -c opdash -f -k -a '(__opdash_complete)'
    """#
}

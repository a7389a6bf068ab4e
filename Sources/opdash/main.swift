print("opdash")
